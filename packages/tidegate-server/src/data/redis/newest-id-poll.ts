import type { PolicyVersion } from "../../data.js";

const everyMs = 500;

export interface NewestIdPollOptions {
  newestId(): Promise<number>;
  get(id: number): Promise<PolicyVersion | undefined>;
  tell(newest: PolicyVersion): void;
  /** Told once of each outage. */
  onError(error: unknown): void;
}

/** Looks twice a second whether there is a newer version, and reads it only then. An outage is sat out. */
export interface NewestIdPoll {
  start(): void;
  stop(): void;
  /** This process added it: nothing to look for. */
  knows(id: number): void;
}

export function newestIdPoll({ newestId, get, tell, onError }: NewestIdPollOptions): NewestIdPoll {
  let run: object | undefined;
  let timer: NodeJS.Timeout | undefined;
  let known: number | undefined;
  let news = 0;
  let isOut = false;

  /** An id below the known one is news too: Redis may have been emptied, and others have begun again. */
  async function look(current: object): Promise<void> {
    const asOf = news;
    const id = await newestId();
    if (id === 0 || id === known) return;
    const version = await get(id);
    if (version === undefined || asOf !== news || run !== current) return;
    known = id;
    tell(version);
  }

  async function lookAgainAndAgain(current: object): Promise<void> {
    try {
      await look(current);
      isOut = false;
    } catch (error) {
      if (!isOut && run === current) onError(error);
      isOut = true;
    }
    if (run !== current) return;
    timer = setTimeout(() => void lookAgainAndAgain(current), everyMs).unref();
  }

  return {
    start() {
      if (run !== undefined) return;
      run = {};
      void lookAgainAndAgain(run);
    },
    stop() {
      run = undefined;
      clearTimeout(timer);
    },
    knows(id) {
      news++;
      known = id;
    },
  };
}
