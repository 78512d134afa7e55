export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/** Median of the ratios taken pair by pair, so that a slow minute of the machine hits both sides. */
export function pairedRatio(ours, theirs) {
  const pairs = Math.min(ours.length, theirs.length);
  const ratios = [];
  for (let i = 0; i < pairs; i++) ratios.push(ours[i] / theirs[i]);
  return median(ratios);
}
