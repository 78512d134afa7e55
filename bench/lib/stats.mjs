export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/** How far from the median nine in ten medians of as many such values lie, by the order of these: half the width. */
export function spreadOfMedian(values) {
  const share = 0.82 / Math.sqrt(values.length);
  return (quantile(values, Math.min(1, 0.5 + share)) - quantile(values, Math.max(0, 0.5 - share))) / 2;
}

/** Pair by pair, so that a slow minute of the machine hits both sides. */
export const pairedRatios = (ours, theirs) => paired(ours, theirs, (a, b) => a / b);

/** As above, of the differences. */
export const pairedDifferences = (ours, theirs) => paired(ours, theirs, (a, b) => a - b);

function paired(ours, theirs, join) {
  return ours.slice(0, theirs.length).map((value, i) => join(value, theirs[i]));
}
