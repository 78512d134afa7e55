import { useEffect, useState } from "preact/hooks";
import { ask, Problem } from "../ask.ts";
import type { ExplainAnswer } from "../types.ts";
import { hear } from "./events.ts";

const everyMs = 3_000;

/** What a client would get, looked at again and again. Undefined: it could not be told. */
export function useExplained(facts: Readonly<Record<string, string>>): ExplainAnswer | undefined {
  const [explained, setExplained] = useState<ExplainAnswer>();
  const subject = JSON.stringify(facts);
  useEffect(() => {
    let isWanted = true;
    const look = async (): Promise<void> => {
      try {
        const answer = await ask<ExplainAnswer>("POST", "/v1/explain", { subject: JSON.parse(subject) });
        if (isWanted) setExplained(answer);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
    };
    void look();
    const timer = setInterval(() => void (document.hidden || look()), everyMs);
    const stop = hear("audit", () => void look());
    return () => {
      isWanted = false;
      clearInterval(timer);
      stop();
    };
  }, [subject]);
  return explained;
}
