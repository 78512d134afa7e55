import { useState } from "preact/hooks";
import { Foreign } from "../parts/foreign.tsx";
import type { RehearsalReport } from "../types.ts";
import { count, span } from "../words.ts";
import { Heading } from "./heading.tsx";
import { type Column, SortedTable } from "./sorted-table.tsx";
import { instant, share, some } from "./words.ts";

type Client = RehearsalReport["offenders"][number];

const columns: readonly Column<Client>[] = [
  { title: "Client", of: ({ client }) => client, show: ({ client }) => <Foreign text={client} /> },
  { title: "Address", of: ({ address }) => address, show: ({ address }) => <Foreign text={address} /> },
  { title: "Rule", of: ({ rule }) => rule, show: ({ rule }) => <Foreign text={rule} /> },
  { title: "Requests", of: ({ requests }) => requests, show: ({ requests }) => count(requests) },
  { title: "Refused", of: ({ refused }) => refused, show: ({ refused }) => count(refused) },
  { title: "Share", of: (client) => client.share, show: (client) => share(client.share) },
  {
    title: "First refused",
    of: ({ firstRefusedAt }) => firstRefusedAt,
    show: ({ firstRefusedAt }) => instant(firstRefusedAt),
  },
  {
    title: "Last refused",
    of: ({ lastRefusedAt }) => lastRefusedAt,
    show: ({ lastRefusedAt }) => instant(lastRefusedAt),
  },
  {
    title: "Longest hold",
    of: ({ longestHoldMs }) => longestHoldMs,
    show: ({ longestHoldMs }) => (longestHoldMs > 0 ? span(longestHoldMs) : "–"),
  },
  {
    title: "User agent",
    of: ({ userAgent = "" }) => userAgent,
    show: ({ userAgent }) => <Foreign text={userAgent} />,
  },
];

/** Who would be refused. */
export function Clients({ report }: { report: RehearsalReport }) {
  const { offenders, outcome } = report;
  const [wanted, setWanted] = useState("");
  const text = wanted.trim().toLowerCase();
  const found = offenders.filter(({ client, address, rule, userAgent = "" }) =>
    [client, address, rule, userAgent].some((each) => each.toLowerCase().includes(text)),
  );
  return (
    <>
      <Heading>Clients refused</Heading>
      {outcome.refusedClients > offenders.length && offenders.length > 0 && (
        <p class="quiet">
          The most refused, {count(offenders.length)} rows, of {some(outcome.refusedClients, "client")}.
        </p>
      )}
      {offenders.length > 0 && (
        <label class="filter">
          Find among them
          <input type="search" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        </label>
      )}
      <p class="unseen" role="status">
        {text === "" ? "" : `${found.length} found`}
      </p>
      <SortedTable
        label="Clients refused"
        columns={columns}
        rows={found}
        keyOf={({ client, rule }) => `${client} ${rule}`}
        startsBy="Refused"
        empty={offenders.length === 0 ? "Nobody would be refused." : "None of them."}
      />
    </>
  );
}
