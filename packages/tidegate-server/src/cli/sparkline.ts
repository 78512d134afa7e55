const bars = "▁▂▃▄▅▆▇█";

/** Numbers as a row of small bars, the highest as high as can be. */
export function sparkline(numbers: readonly number[]): string {
  const most = Math.max(...numbers, 0);
  return numbers
    .map((number) => bars[most === 0 ? 0 : Math.ceil((Math.max(0, number) / most) * (bars.length - 1))])
    .join("");
}
