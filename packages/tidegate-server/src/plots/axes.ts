import type { Axis } from "./plot.js";

/** From 0 to a little above the most, with four to eight round ticks. */
export function linearAxis(label: string, most: number, { isExact = false } = {}): Axis {
  const step = roundStep(most / 5);
  const to = isExact ? most : Math.max(step, Math.ceil((most - 1e-9) / step) * step);
  const ticks = Array.from({ length: Math.floor(to / step + 1e-9) + 1 }, (_, i) => round(i * step));
  return { label, from: 0, to, ticks };
}

/** From the power of ten at or below the least to three times the most. */
export function logAxis(label: string, least: number, most: number): Axis {
  const first = Math.floor(Math.log10(least) + 1e-9);
  const last = Math.floor(Math.log10(most) + 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => round(10 ** (first + i)));
  return { label, from: 10 ** first, to: most * 3, ticks, scale: "log" };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10;
  return factor * power;
}

function round(value: number): number {
  return Number(value.toPrecision(9));
}
