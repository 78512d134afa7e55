/** The next number up that people would write: 1 to 20, then 25, 30, 40, 50, 60, 80, 100, 120, 150 and so on. */
export function readable(amount: number): number {
  if (amount <= 20) return Math.max(1, Math.ceil(amount - 1e-9));
  const scale = 10 ** Math.floor(Math.log10(amount));
  const step = steps.find((each) => each * scale >= amount * (1 - 1e-9)) ?? 10;
  return step * scale;
}

const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** As policies write it: `5m`, `90s`, `1.5s`. */
export function durationText(ms: number): string {
  for (const [unit, unitMs] of units) if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  return ms >= 1000 ? `${Number((ms / 1000).toFixed(3))}s` : `${Number(ms.toFixed(3))}ms`;
}

const units: readonly (readonly [string, number])[] = [
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
];
