import { useMemo } from "preact/hooks";
import { useAnswer } from "../live/use-answer.ts";
import { rateAgainst } from "../rate-against.ts";
import type { ClientSeriesAnswer, ExplainAnswer } from "../types.ts";
import { count, rate, span, visible } from "../words.ts";
import { Chart } from "./chart.tsx";

/** How much a client asks, second by second, against the limit it is nearest to. */
export function ClientRate({ ip, explained }: { ip: string; explained: ExplainAnswer | null }) {
  const { answer, problem } = useAnswer<ClientSeriesAnswer>(
    `/v1/series/client?ip=${encodeURIComponent(ip)}`,
    ["busiest"],
  );
  const verdict = nearest(explained);
  const client = answer?.client;
  const { limit, windowMs, name } = verdict ?? {};
  const plotted = useMemo(
    () =>
      client
        ? rateAgainst(client, limit !== undefined && windowMs ? { limit, windowMs } : undefined)
        : undefined,
    [client, limit, windowMs],
  );
  if (problem?.status === 404 || answer === undefined) return null;
  if (plotted === undefined)
    return <p class="quiet">It is not among the busiest clients lately: its rate is not followed.</p>;
  const { times, requests, refused, against, stepMs } = plotted;
  const now = requests.at(-1) ?? 0;
  return (
    <figure>
      <Chart
        times={times}
        lines={[
          { name: "requests", colour: "--good", dash: [], values: requests },
          { name: "refused", colour: "--bad", dash: [6, 3], values: refused },
          { name: "limit", colour: "--warn", dash: [2, 3], values: requests.map(() => against ?? 0) },
        ]}
      />
      <figcaption>
        {count(now)} requests in the last {span(stepMs)}, {count(refused.at(-1) ?? 0)} of them refused.
        {against !== undefined && limit !== undefined && windowMs !== undefined && (
          <>
            {" "}
            {visible(name ?? "")} allows {count(limit)} in {span(windowMs)}
            {stepMs !== windowMs && `, that is ${rate(against)} in ${span(stepMs)} on average`}.
          </>
        )}{" "}
        <span class="quiet">Requests (line), refused (dashes), the limit (dots).</span>
      </figcaption>
    </figure>
  );
}

/** The one with the least left, as a part of what it allows. */
function nearest(explained: ExplainAnswer | null) {
  const verdicts = explained?.rules.flatMap((each) => each.verdicts) ?? [];
  const left = ({ remaining, limit }: (typeof verdicts)[number]): number => remaining / Math.max(1, limit);
  return verdicts.reduce<(typeof verdicts)[number] | undefined>(
    (least, each) => (least === undefined || left(each) < left(least) ? each : least),
    undefined,
  );
}
