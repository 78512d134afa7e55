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
export const pairedRatio = (ours, theirs) => median(paired(ours, theirs, (a, b) => a / b));

/** As above, of the differences. */
export const pairedDifference = (ours, theirs) => median(paired(ours, theirs, (a, b) => a - b));

function paired(ours, theirs, join) {
  return ours.slice(0, theirs.length).map((value, i) => join(value, theirs[i]));
}
