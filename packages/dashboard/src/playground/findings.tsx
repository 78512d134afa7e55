import { allPassUpTo, burstLetThrough, lockedOutAbove, sharePassing, silenceNeeded } from "tidegate/simulate";
import type { Dials, Played } from "./dials.ts";

/** What the curves say, in numbers, and what follows from the limit's own. */
export function Findings({
  played: { estimated, rival, rivalName },
  dials,
}: {
  played: Played;
  dials: Dials;
}) {
  const { rate, halfLife, overage, sends } = dials;
  const limit = { rate, halfLife, overage };
  const locked = lockedOutAbove(limit);
  return (
    <dl class="facts">
      <Fact name="Let in by EARRRL" value={letIn(estimated)} />
      <Fact name={`Let in by ${rivalName.toLowerCase()}`} value={letIn(rival)} />
      <Fact name="First refused by EARRRL" value={moment(estimated.firstRefusedAt)} />
      <Fact name="Last refused by EARRRL" value={moment(estimated.lastRefusedAt)} />
      <Fact name="Passes at once, from rest" value={`${burstLetThrough(limit)} calls`} />
      <Fact name="All passes, steadily, up to" value={perSecond(allPassUpTo(limit))} />
      <Fact
        name="Locked out for ever above"
        value={Number.isFinite(locked) ? perSecond(locked) : "nobody is"}
      />
      <Fact name={`Of ${perSecond(sends)}, steadily, passes`} value={percent(sharePassing(sends, limit))} />
      <Fact name="Silence needed after it" value={`${silenceNeeded(sends, limit).toFixed(1)} s`} />
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function letIn({ passed, sent }: Played["estimated"]): string {
  return `${passed} of ${sent}${sent === 0 ? "" : ` (${percent(passed / sent)})`}`;
}

function moment(seconds: number | undefined): string {
  return seconds === undefined ? "never" : `at ${seconds.toFixed(1)} s`;
}

function perSecond(rate: number): string {
  return `${Number(rate.toPrecision(3))} per second`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
