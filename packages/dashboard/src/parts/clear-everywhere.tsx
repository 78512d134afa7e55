import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
import { clearedWords } from "../cleared-words.ts";
import { hearMyself } from "../live/events.ts";
import type { ClearAnswer, ProblemAnswer } from "../types.ts";
import type { Facts } from "../wanted.ts";
import { Act, MayNot } from "./act.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { told } from "./told.tsx";

export interface ClearEverywhereProps {
  readonly who: { readonly subject: Facts } | { readonly key: string };
  /** Whether it was cleared or not. */
  readonly onDone: () => unknown;
  /** What it does. */
  readonly children: ComponentChildren;
}

/** Forgets a client, or all under a fingerprint, here and at the edges. */
export function ClearEverywhere({ who, onDone, children }: ClearEverywhereProps) {
  const [problem, setProblem] = useState<ProblemAnswer>();
  async function clear(): Promise<void> {
    try {
      setProblem(undefined);
      const asked = { ...who, remembered: true };
      void told(clearedWords(await ask<ClearAnswer>("POST", "/v1/clear", asked)));
    } catch (error) {
      setProblem(problemOf(error));
    }
    hearMyself("held");
    await onDone();
  }
  return (
    <>
      <MayNot needs="operator" />
      <ProblemNote problem={problem} />
      <p>
        <Act needs="operator" kind="danger" onAct={clear}>
          Clear everywhere
        </Act>{" "}
        <span class="quiet">{children}</span>
      </p>
    </>
  );
}
