import type { Answered, Answers, Asked, Question } from "./messages.js";

/** Whoever does not answer by then has nothing to say. */
const answerWithinMs = 2_000;

/** Questions to the process at the other end. */
export interface Asking {
  ask<Kind extends Question["kind"]>(
    question: Extract<Question, { kind: Kind }>,
    otherwise: Answers[Kind],
  ): Promise<Answers[Kind]>;
  hear(answered: Answered): void;
  /** Nobody is there any more: whoever waits for an answer waits no longer. */
  leave(): void;
}

export function asking(send: (asked: Asked) => void): Asking {
  const waiting = new Map<number, (answer?: unknown) => void>();
  let asked = 0;
  return {
    ask(question, otherwise) {
      const number = asked++;
      return new Promise((resolve) => {
        const end = (answer: unknown = otherwise): void => {
          clearTimeout(timer);
          waiting.delete(number);
          resolve(answer as typeof otherwise);
        };
        const timer = setTimeout(end, answerWithinMs);
        waiting.set(number, end);
        send({ number, question });
      });
    },
    hear: ({ number, answer }) => waiting.get(number)?.(answer),
    leave() {
      for (const end of waiting.values()) end();
    },
  };
}
