import { useMemo } from "preact/hooks";
import type { Rates } from "../live/rates.ts";
import { Chart } from "./chart.tsx";

const kinds = [
  { name: "allowed", colour: "--good", dash: [] },
  { name: "refused", colour: "--bad", dash: [6, 3] },
  { name: "shadow", colour: "--warn", dash: [2, 3] },
] as const;

/** Requests per second over time. */
export function RatesChart({ points }: { points: readonly Rates[] }) {
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  const lines = useMemo(
    () => kinds.map((kind) => ({ ...kind, values: points.map((point) => point[kind.name]) })),
    [points],
  );
  return <Chart times={times} lines={lines} />;
}
