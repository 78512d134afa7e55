import { useEffect, useState } from "preact/hooks";
import { ask, Problem, part } from "../ask.ts";
import { hear } from "../live/events.ts";
import { AsRefused } from "../parts/as-refused.tsx";
import { ClearEverywhere } from "../parts/clear-everywhere.tsx";
import { ClientRate } from "../parts/client-rate.tsx";
import { ClientsWithin } from "../parts/clients-within.tsx";
import { Explained } from "../parts/explained.tsx";
import { FingerprintClients } from "../parts/fingerprint-clients.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { ListedHere } from "../parts/listed-here.tsx";
import { NotFound } from "../parts/not-found.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Ago } from "../parts/time.tsx";
import { goTo, place } from "../place.ts";
import type { DecisionAnswer, ExplainAnswer, ProblemAnswer } from "../types.ts";
import { type Facts, type Wanted, wantedOf } from "../wanted.ts";
import { visible } from "../words.ts";

export function Clients() {
  const { find = "" } = place.value.query;
  return (
    <>
      <Search key={find} find={find} />
      {find !== "" && <Found key={`found ${find}`} wanted={wantedOf(find)} />}
    </>
  );
}

function Found({ wanted }: { wanted: Wanted }) {
  if ("within" in wanted) return <ClientsWithin block={wanted.within} />;
  if ("unknown" in wanted) return <NotFound text={wanted.unknown} />;
  if ("key" in wanted) return <FingerprintClients fingerprint={wanted.key} />;
  return <Client wanted={wanted} />;
}

function Search({ find }: { find: string }) {
  const [text, setText] = useState(find);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        goTo("clients", { find: text.trim() });
      }}
    >
      <div class="row">
        <label>
          Find a client
          <input
            type="search"
            class="foreign"
            size={34}
            required
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Find
        </button>
      </div>
      <p class="quiet">
        An address, a block such as <code>203.0.113.0/24</code>, a fingerprint, the decision id from a
        refusal, or <code>customer:…</code>, <code>user:…</code>, <code>account:…</code>. With a path:{" "}
        <code>203.0.113.7 GET /search</code>.
      </p>
    </form>
  );
}

interface Looked {
  readonly facts: Facts;
  readonly now: ExplainAnswer | null;
  readonly decision?: DecisionAnswer["decision"];
}

type OneWanted = Extract<Wanted, { readonly facts: Facts } | { readonly decision: string }>;

const lookEveryMs = 3_000;

function Client({ wanted }: { wanted: OneWanted }) {
  const [found, setFound] = useState<Looked>();
  const [problem, setProblem] = useState<ProblemAnswer>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isWanted = true;
    const look = async (): Promise<void> => {
      try {
        const answer = await findClient(wanted);
        if (isWanted) setFound(answer);
        if (isWanted) setProblem(undefined);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (isWanted) setProblem(error.answer);
      }
    };
    void look();
    const timer = setInterval(() => void (document.hidden || look()), lookEveryMs);
    const stop = hear("audit", () => void look());
    return () => {
      isWanted = false;
      clearInterval(timer);
      stop();
    };
  }, [turn]);

  if (problem?.status === 404 && "decision" in wanted && found === undefined)
    return <NotFound text={wanted.decision} />;
  if (found === undefined) return <ProblemNote problem={problem} />;
  const { facts, now, decision } = found;
  const again = (): void => setTurn((before) => before + 1);
  return (
    <>
      <ProblemNote problem={problem} />
      {decision !== undefined && <Refused decision={decision} />}
      <h2>
        Now: <Foreign text={factsText(facts)} />
      </h2>
      {now !== null && decision === undefined && facts.ip !== undefined && (
        <AsRefused given={facts} asRefused={now.asRefused} />
      )}
      {now === null ? <p>What it would get now can not be told.</p> : <Explained explained={now} />}
      {facts.ip !== undefined && <ClientRate ip={facts.ip} explained={now} />}
      <h2>Do</h2>
      <ClearEverywhere who={{ subject: facts }} onDone={again}>
        Forgets its counts and holds, as it came in each of its refused requests that are remembered (the
        newest 50), and takes it off every edge.
      </ClearEverywhere>
      {facts.ip !== undefined && (
        <ListedHere address={facts.ip} listed={now?.listed?.address} onDone={again} />
      )}
    </>
  );
}

function Refused({ decision }: { decision: DecisionAnswer["decision"] }) {
  const { id, at, reason, verdict, listed, about } = decision;
  return (
    <>
      <h2>The refused request</h2>
      <p>
        <Foreign text={id} /> was refused <Ago at={at} />: {reason}
        {verdict !== undefined && ` by ${visible(verdict.name)} (${verdict.limit} allowed)`}
        {listed !== undefined && ` for ${visible(listed.why ?? "no given reason")}`}.
      </p>
      <ul class="plain">
        {Object.entries(about).map(([name, value]) => (
          <li key={name}>
            {name}: <Foreign text={String(value)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function factsText({ headers = {}, ...facts }: Facts): string {
  return [...Object.values(facts), ...Object.values(headers)].join(" ");
}

async function findClient(wanted: OneWanted): Promise<Looked> {
  if ("decision" in wanted) {
    const { decision, now } = await ask<DecisionAnswer>("GET", `/v1/decisions/${part(wanted.decision)}`);
    const { userAgent, ...facts } = decision.about;
    const headers = userAgent === undefined ? {} : { headers: { "user-agent": userAgent } };
    return { facts: { ...facts, ...headers }, now, decision };
  }
  return {
    facts: wanted.facts,
    now: await ask<ExplainAnswer>("POST", "/v1/explain", { subject: wanted.facts, remembered: true }),
  };
}
