import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import { useExplained } from "../live/use-explained.ts";
import { MayNot } from "../parts/act.tsx";
import { ChangedMeanwhile } from "../parts/changed-meanwhile.tsx";
import { Explained } from "../parts/explained.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { LimitsForm } from "../parts/limits-form.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { TierForm } from "../parts/tier-form.tsx";
import { told } from "../parts/told.tsx";
import { goTo, place } from "../place.ts";
import type { CustomerAnswer, ExplainAnswer, PolicyRulesAnswer, ProblemAnswer } from "../types.ts";

export function Customers() {
  const { id = "" } = place.value.query;
  const [text, setText] = useState(id);
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          goTo("customers", { id: text.trim() });
        }}
      >
        <div class="row">
          <label>
            Customer
            <input
              type="search"
              required
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="main">
            Show
          </button>
        </div>
      </form>
      {id !== "" && <Customer key={id} id={id} />}
    </>
  );
}

function Customer({ id }: { id: string }) {
  const path = `/v1/customers/${part(id)}`;
  const { answer, etag, isMissing, problem, refresh } = useAnswer<CustomerAnswer>(path, ["audit"]);
  const { answer: policy } = useAnswer<PolicyRulesAnswer>("/v1/policy/rules", ["policy"]);
  const explained = useExplained({ customer: id });
  const own = explained?.rules.filter((rule) => isOf(id, rule));
  const [failure, setFailure] = useState<ProblemAnswer>();

  async function put(what: "tier" | "limits", value: unknown): Promise<void> {
    try {
      const seen = isMissing ? null : etag;
      const { state } = await ask<CustomerAnswer>("PUT", `${path}/${what}`, { [what]: value }, seen);
      setFailure(undefined);
      const later = state === "pending" ? " Your database does not have it yet; it is tried again." : "";
      void told(`The ${what} of ${id} ${what === "tier" ? "is" : "are"} set.${later}`, {
        what: `customer.${what}`,
        target: id,
      });
    } catch (error) {
      setFailure(problemOf(error));
    }
    hearMyself("audit");
    await refresh();
  }

  return (
    <>
      <h2>
        <Foreign text={id} />
      </h2>
      {problem?.status !== 404 && <ProblemNote problem={problem} />}
      {isMissing && <p>Nothing is on record: it is in the default tier.</p>}
      {answer !== undefined && (
        <p>
          Tier: {answer.tier === null ? "the default one" : <Foreign text={answer.tier} />}. Own limits:{" "}
          {answer.limits === null ? "none, those of the tier hold." : ""}
        </p>
      )}
      {answer?.limits && (
        <ul class="plain">
          {Object.entries(answer.limits).map(([seconds, limit]) => (
            <li key={seconds}>
              {limit} in {seconds} s
            </li>
          ))}
        </ul>
      )}
      <MayNot needs="operator" />
      <ChangedMeanwhile problem={failure} what="customer." target={id} />
      {(answer !== undefined || isMissing) && (
        <div class="fields">
          <TierForm
            key={`tier ${answer?.tier}`}
            now={answer?.tier ?? null}
            tiers={policy?.tiers ?? []}
            onSet={(tier) => put("tier", tier)}
          />
          <LimitsForm
            key={`limits ${JSON.stringify(answer?.limits)}`}
            now={answer?.limits ?? null}
            onSet={(limits) => put("limits", limits)}
          />
        </div>
      )}
      <h2>Against its limits now</h2>
      {(explained === undefined || own === undefined) && <p class="quiet">…</p>}
      {own?.length === 0 && <p class="quiet">No rule counts by customer.</p>}
      {explained !== undefined && own !== undefined && own.length > 0 && (
        <Explained explained={{ ...explained, words: own.map(({ words }) => words).join(" "), rules: own }} />
      )}
    </>
  );
}

/** Whether a rule counts by customer; others say nothing of this one. */
function isOf(id: string, { key, tier, verdicts }: ExplainAnswer["rules"][number]): boolean {
  return tier !== undefined || key === id || verdicts.some((verdict) => verdict.key === id);
}
