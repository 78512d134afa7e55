export interface PageOptions {
  readonly most?: number;
  readonly before?: number;
}

/** One page, newest first: never more than 1,000 at once, whatever is asked for. */
export interface Page {
  readonly most: number;
  /** The last one of a page is older than this; `Number.MAX_SAFE_INTEGER` for the first page. */
  readonly before: number;
}

const usualMost = 100;
const largestMost = 1_000;

export function pageOf({ most = usualMost, before = Number.MAX_SAFE_INTEGER }: PageOptions = {}): Page {
  return {
    most: Number.isFinite(most) ? Math.min(Math.max(Math.floor(most), 1), largestMost) : usualMost,
    before: Number.isSafeInteger(before) ? Math.max(before, 0) : Number.MAX_SAFE_INTEGER,
  };
}
