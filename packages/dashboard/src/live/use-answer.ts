import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { askTagged, Problem } from "../ask.ts";
import type { ProblemAnswer } from "../types.ts";
import { type EventName, hear, isTold } from "./events.ts";

export interface Answered<Answer> {
  /** The last one there was, however long ago. */
  readonly answer: Answer | undefined;
  /** By what that state is known, to say so with a change. */
  readonly etag: string | undefined;
  /** The last word was that there is no such thing. */
  readonly isMissing: boolean;
  /** Why there is no newer one. */
  readonly problem: ProblemAnswer | undefined;
  /** Asks again, now. */
  refresh(): Promise<void>;
}

const everyMs = 2_000;
const toldEveryMs = 15_000;

/** One answer of the API, asked again when one of these events comes, and from time to time anyway. Without a path nothing is asked. */
export function useAnswer<Answer>(path: string | undefined, on: readonly EventName[]): Answered<Answer> {
  const [state, setState] = useState<Omit<Answered<Answer>, "refresh"> & { path: string | undefined }>({
    path,
    answer: undefined,
    etag: undefined,
    isMissing: false,
    problem: undefined,
  });
  const asked = useRef(0);
  const refresh = useCallback(async () => {
    if (path === undefined) return;
    const turn = ++asked.current;
    try {
      const { answer, etag } = await askTagged<Answer>("GET", path);
      if (turn === asked.current) setState({ path, answer, etag, isMissing: false, problem: undefined });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (turn === asked.current)
        setState((last) => {
          const isGone = error.answer.status === 404;
          const isKept = last.path === path && !isGone;
          return {
            path,
            isMissing: isGone || (isKept && last.isMissing),
            answer: isKept ? last.answer : undefined,
            etag: isKept ? last.etag : undefined,
            problem: error.answer,
          };
        });
    }
  }, [path]);

  const wakes = on.join();
  useEffect(() => {
    void refresh();
    let last = Date.now();
    let soon: ReturnType<typeof setTimeout> | undefined;
    const again = (): void => {
      last = Date.now();
      void refresh();
    };
    const wake = (): void => {
      soon ??= setTimeout(() => {
        soon = undefined;
        again();
      }, 100);
    };
    const timer = setInterval(() => {
      if (!document.hidden && Date.now() - last >= (isTold.value ? toldEveryMs : everyMs)) again();
    }, 500);
    const stops = (wakes === "" ? [] : (wakes.split(",") as EventName[])).map((name) => hear(name, wake));
    return () => {
      asked.current++;
      clearInterval(timer);
      clearTimeout(soon);
      for (const stop of stops) stop();
    };
  }, [refresh, wakes]);

  const isOwn = state.path === path;
  return {
    answer: isOwn ? state.answer : undefined,
    etag: isOwn ? state.etag : undefined,
    isMissing: isOwn && state.isMissing,
    problem: isOwn ? state.problem : undefined,
    refresh,
  };
}
