import { useMemo } from "preact/hooks";
import { useAnswer } from "../live/use-answer.ts";
import { rateAgainst } from "../rate-against.ts";
import type { ClientSeriesAnswer, ExplainAnswer, PolicyRulesAnswer } from "../types.ts";
import { count, rate, span, visible } from "../words.ts";
import { Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

/** How much a client asks, second by second, against the limit it is nearest to of those that count all of it. */
export function ClientRate({ ip, explained }: { ip: string; explained: ExplainAnswer | null }) {
  const { answer, problem } = useAnswer<ClientSeriesAnswer>(
    `/v1/series/client?ip=${encodeURIComponent(ip)}`,
    ["busiest"],
  );
  const { answer: policy } = useAnswer<PolicyRulesAnswer>("/v1/policy/rules", ["policy"]);
  const client = answer?.client;
  const verdict = nearest(explained, client?.key, policy);
  const { limit, windowMs, rule } = verdict ?? {};
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
  const lines = [
    { name: "requests", colour: "--good", dash: [], values: requests },
    { name: "refused", colour: "--bad", dash: [6, 3], values: refused },
    { name: "limit", colour: "--warn", dash: [2, 3], values: requests.map(() => against ?? null) },
  ];
  return (
    <figure>
      <Chart times={times} lines={lines} />
      <figcaption>
        {count(now)} requests in the last {span(stepMs)}, {count(refused.at(-1) ?? 0)} of them refused.
        {against !== undefined && limit !== undefined && windowMs !== undefined && (
          <>
            {" "}
            {visible(rule ?? "")} allows {count(limit)} in {span(windowMs)}
            {stepMs !== windowMs && `, that is ${rate(against)} in ${span(stepMs)} on average`}.
          </>
        )}{" "}
        <span class="quiet">
          {against === undefined
            ? "No limit is drawn: none that was asked counts all its requests and nothing else."
            : ""}
        </span>
        <Legend lines={against === undefined ? lines.slice(0, 2) : lines} />
      </figcaption>
    </figure>
  );
}

/** The one with the least left, as a part of what it allows. Only of those that count all its requests, and no others: what is plotted. */
function nearest(
  explained: ExplainAnswer | null,
  client: string | undefined,
  policy: PolicyRulesAnswer | undefined,
) {
  const ofAll = new Set(policy?.rules.filter(({ isPartial }) => isPartial !== true).map(({ name }) => name));
  const verdicts = (explained?.rules ?? [])
    .filter(({ rule, key }) => ofAll.has(rule) && key === client)
    .flatMap((each) => each.verdicts);
  const left = ({ remaining, limit }: (typeof verdicts)[number]): number => remaining / Math.max(1, limit);
  return verdicts.reduce<(typeof verdicts)[number] | undefined>(
    (least, each) => (least === undefined || left(each) < left(least) ? each : least),
    undefined,
  );
}
