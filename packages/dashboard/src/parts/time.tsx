import { now } from "../live/clock.ts";
import { moment, span } from "../words.ts";

/** Counts down to an end; without one, it stays. */
export function Countdown({ until }: { until: number | undefined | null }) {
  if (until === undefined || until === null) return <span>permanent</span>;
  const left = until - now.value;
  return (
    <time dateTime={new Date(until).toISOString()} title={moment(until)}>
      {left <= 0 ? "ended" : span(left)}
    </time>
  );
}

export function Ago({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {now.value - at < 2_000 ? "just now" : `${span(now.value - at)} ago`}
    </time>
  );
}
