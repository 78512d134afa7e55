import { type ClientRun, limitOfText, type Phase, runScenario, type TrafficPattern } from "tidegate/simulate";

/** What can be turned. Rates are calls per second, times seconds. */
export interface Dials {
  readonly halfLife: number;
  readonly rate: number;
  readonly overage: number;
  /** What the client sends until it changes its mind, and from then on. */
  readonly sends: number;
  readonly changesAt: number;
  readonly afterwards: number;
  readonly pattern: TrafficPattern;
  readonly burst: number;
  readonly against: Rival;
}

export const rivals = ["fixed-window", "sliding-log", "sliding-counter", "token-bucket"] as const;
export type Rival = (typeof rivals)[number];

export const seconds = 400;

/** A client 67 % over the limit, then exactly at it. */
export const reform: Dials = {
  halfLife: 20,
  rate: 1,
  overage: 1,
  sends: 1.7,
  changesAt: 150,
  afterwards: 1,
  pattern: "steady",
  burst: 20,
  against: "fixed-window",
};

export interface Played {
  readonly estimated: ClientRun;
  readonly rival: ClientRun;
  readonly rivalName: string;
}

export function play({
  halfLife,
  rate,
  overage,
  sends,
  changesAt,
  afterwards,
  pattern,
  burst,
  against,
}: Dials): Played {
  const kind = { pattern, ...(pattern === "burst-and-wait" && { burst }) };
  const phases: Phase[] = [
    { from: 0, to: changesAt, rate: sends, ...kind },
    { from: changesAt, to: seconds, rate: afterwards, ...kind },
  ].filter(({ from, to }) => from < to);
  const { limits } = runScenario({
    name: "playground",
    title: "Playground",
    about: "",
    seconds,
    clients: [{ name: "client", phases }],
    limits: [
      { limit: { earrrl: { rate, halfLife: halfLife * 1000, overage } } },
      { limit: limitOfText(against, { rate }) },
    ],
  });
  const [estimated, rival] = limits.map(({ clients }) => clients[0] as ClientRun) as [ClientRun, ClientRun];
  return { estimated, rival, rivalName: limits[1]?.name ?? against };
}
