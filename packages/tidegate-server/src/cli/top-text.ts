import type { BusyKey } from "tidegate";
import { table } from "./table.js";

/** Who is busiest, told once. */
export function topText(busiest: readonly BusyKey[]): string {
  if (busiest.length === 0) return "Nobody came lately.";
  return `${busiestTable(busiest)}Lately: a request counts half as much after five minutes.\n`;
}

export function busiestTable(busiest: readonly BusyKey[]): string {
  return table(
    [
      { title: "CLIENT", of: ({ key }) => key },
      {
        title: "REQUESTS",
        of: ({ count, error }) => between(Math.round(count - error), Math.round(count)),
        isNumber: true,
      },
      { title: "REFUSED", of: ({ refused }) => Math.round(refused), isNumber: true },
    ],
    busiest,
  );
}

function between(least: number, most: number): string {
  return least === most ? `${most}` : `${least}-${most}`;
}
