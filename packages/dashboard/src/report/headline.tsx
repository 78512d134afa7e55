import type { RehearsalReport } from "../types.ts";
import { count, span } from "../words.ts";
import { useAgainst } from "./against.ts";
import { instant, share, some } from "./words.ts";

/** The whole of it, in words. */
export function Headline({ report }: { report: RehearsalReport }) {
  const { requests, clients, outcome, from, to } = report;
  const against = useAgainst();
  if (requests === 0 || from === undefined || to === undefined)
    return <p class="headline">There was no request to rehearse with.</p>;
  return (
    <>
      <p class="headline">
        <strong>
          {count(outcome.refused)} of {some(requests, "request")}
        </strong>{" "}
        would be refused ({share(outcome.refused / requests)}), from {count(outcome.refusedClients)} of{" "}
        {some(clients, "client")}.
      </p>
      <ul class="plain">
        {changeWords(report, against).map((words) => (
          <li key={words}>{words}</li>
        ))}
        <li>{originWords(report, against)}</li>
        {outcome.shadow > 0 && <li>{some(outcome.shadow, "more request")} would be, but for shadow.</li>}
      </ul>
      <p class="quiet">
        <time dateTime={new Date(from).toISOString()}>{instant(from)}</time> to{" "}
        <time dateTime={new Date(to).toISOString()}>{instant(to)}</time>, {span(to - from)}
      </p>
    </>
  );
}

function changeWords({ change }: RehearsalReport, against: string): string[] {
  if (change === undefined) return [];
  const { newlyRefused, newlyPassed } = change;
  if (newlyRefused.requests === 0 && newlyPassed.requests === 0)
    return [`Against ${against} nothing would change for this traffic.`];
  return [
    newlyRefused.requests === 0
      ? "Nobody would be newly refused."
      : `${some(newlyRefused.clients, "client")} would be newly refused, with ${some(newlyRefused.requests, "request")}.`,
    ...(newlyPassed.requests === 0
      ? []
      : [
          `${some(newlyPassed.clients, "client")} would be newly let through, with ${some(newlyPassed.requests, "request")}.`,
        ]),
  ];
}

function originWords({ worstSecond }: RehearsalReport, against: string): string {
  const { recorded, passed, passedAgainst } = worstSecond;
  const before = passedAgainst ?? recorded;
  const under = passedAgainst === undefined ? "without a policy" : `under ${against}`;
  return `Worst second at the origin: ${some(before.requests, "request")} ${under}, ${count(passed.requests)} under this one.`;
}
