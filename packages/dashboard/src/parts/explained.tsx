import type { ExplainAnswer } from "../types.ts";
import { count, span, visible } from "../words.ts";
import { Foreign } from "./foreign.tsx";
import { HeldTable } from "./held-table.tsx";
import { Table } from "./table.tsx";
import { Countdown } from "./time.tsx";

type Verdict = ExplainAnswer["rules"][number]["verdicts"][number];

/** What a client would get and why: in words, and rule by rule. */
export function Explained({ explained }: { explained: ExplainAnswer }) {
  const { allowed, words, rules, offenders, cleared, refusedAt } = explained;
  const edges = [...new Set((refusedAt ?? []).map(({ edge }) => edge))].map(visible).join(", ");
  const lines = rules.flatMap(({ verdicts, ...rule }) =>
    (verdicts.length === 0 ? [undefined] : verdicts).map((verdict) => ({ ...rule, verdict })),
  );
  return (
    <>
      <p class="note" aria-live="polite">
        <strong class={allowed && edges === "" ? "good" : "worse"}>
          {!allowed ? "Refused." : edges === "" ? "Allowed." : `Refused at ${edges}.`}
        </strong>{" "}
        {allowed && edges !== "" && "Tidegate itself would let it pass: "}
        {visible(words)}
      </p>
      <Table
        label="Rule by rule"
        head={["Rule", "Counted as", "Left", "Whole again in", "Held for", "In words"]}
        numbers={[2]}
        empty="The policy has no rules."
      >
        {lines.map(({ rule, applies, words: why, verdict }) => (
          <tr key={`${rule} ${verdict?.name}`}>
            <td>
              <Foreign text={rule} />
              {verdict && (
                <div class="quiet" title={verdict.name}>
                  {count(verdict.limit)} in {span(verdict.windowMs)}
                </div>
              )}
              {verdict?.shadow && <span class="tag">shadow</span>}
            </td>
            <td>{verdict ? <Foreign text={verdict.key} /> : applies ? "–" : "does not apply"}</td>
            <td class="number">
              {verdict === undefined
                ? "–"
                : isHeld(verdict)
                  ? "none while held"
                  : `${count(Math.max(0, Math.floor(verdict.remaining)))} of ${count(verdict.limit)}`}
            </td>
            <td>{verdict === undefined || isHeld(verdict) ? "–" : span(verdict.resetAfterMs)}</td>
            <td>{isHeld(verdict) ? <Countdown until={verdict?.heldUntil} /> : "–"}</td>
            <td class="wraps">{visible(why)}</td>
          </tr>
        ))}
      </Table>
      {offenders === null && <p class="note bad">Whether it is held at the edges can not be told now.</p>}
      {offenders && offenders.length > 0 && (
        <>
          <h3>Held at the edges</h3>
          <HeldTable held={offenders} empty="" />
        </>
      )}
      {cleared?.map(({ key, who, until }) => (
        <p key={key} class="quiet">
          <Foreign text={who} /> cleared <Foreign text={key} /> by hand: it goes to no edge for{" "}
          <Countdown until={until} />.
        </p>
      ))}
    </>
  );
}

/** What is left of the limit is worth nothing as long as it is. A hold without an end is null in JSON. */
function isHeld(verdict: Verdict | undefined): boolean {
  if (verdict?.heldUntil === undefined) return false;
  const until: number | null = verdict.heldUntil;
  return until === null || until > verdict.at;
}
