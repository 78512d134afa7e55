import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { status } from "../live/server.ts";
import { useAnswer } from "../live/use-answer.ts";
import { whyNot } from "../session.ts";
import type { PolicyRule, PolicyRulesAnswer, PolicyVersionAnswer, ProblemAnswer } from "../types.ts";
import { count, visible } from "../words.ts";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { Confirm } from "./confirm.tsx";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { Table } from "./table.tsx";
import { told } from "./told.tsx";

type Mode = PolicyRule["mode"];

const acts: Readonly<Record<Mode, { readonly name: string; readonly does: string }>> = {
  enforce: { name: "Enforce", does: "It refuses again." },
  shadow: { name: "Shadow", does: "It refuses nobody, and goes on counting." },
  off: { name: "Switch off", does: "It does nothing any more." },
};

/** Each rule with its mode, and the way to another: a new version of the policy with nothing else changed. */
export function RuleModes({ onDone }: { onDone: () => Promise<void> }) {
  const { answer, etag, problem, refresh } = useAnswer<PolicyRulesAnswer>("/v1/policy/rules", [
    "policy",
    "audit",
  ]);
  const [why, setWhy] = useState("");
  const [failure, setFailure] = useState<ProblemAnswer>();
  const counted = status.value?.metrics.byRule ?? {};

  async function set(rule: string, mode: Mode): Promise<void> {
    try {
      setFailure(undefined);
      const body = { mode, ...(why !== "" && { why }) };
      const path = `/v1/policy/rules/${part(rule)}/mode`;
      const { version } = await ask<PolicyVersionAnswer>("PUT", path, body, etag);
      void told(`${rule} is set to ${mode}: version ${version.id} is in force.`, { what: "policy." });
      hearMyself("policy");
    } catch (error) {
      setFailure(problemOf(error));
    }
    await Promise.all([refresh(), onDone()]);
  }
  if (answer === undefined) return <ProblemNote problem={problem} />;
  return (
    <>
      {answer.mode !== "enforce" && (
        <p class="note">
          The whole policy is in mode <strong>{answer.mode}</strong>: no rule refuses anybody.
        </p>
      )}
      <ChangedMeanwhile problem={failure} what="policy." />
      <Table
        label="Rules"
        head={["Rule", "Mode", "Refused since the start", "Do"]}
        numbers={[2]}
        empty="The policy has no rules."
      >
        {answer.rules.map(({ name, mode }) => (
          <tr key={name}>
            <td>
              <Foreign text={name} />
            </td>
            <td>
              <span class={mode === "enforce" ? "tag" : "tag worse"}>{mode}</span>
            </td>
            <td class="number">{count(counted[name]?.refused ?? 0)}</td>
            <td>
              {(["enforce", "shadow", "off"] as const)
                .filter((each) => each !== mode)
                .map((each) => (
                  <Confirm
                    key={each}
                    needs="admin"
                    kind={each === "off" ? "danger" : undefined}
                    about={name}
                    question={`${acts[each].name} ${visible(name)}? ${acts[each].does}`}
                    yes={`Yes, ${acts[each].name.toLowerCase()}`}
                    onAct={() => set(name, each)}
                  >
                    {acts[each].name}
                  </Confirm>
                ))}
            </td>
          </tr>
        ))}
      </Table>
      <label class="below">
        Why a rule is switched
        <input
          maxLength={900}
          value={why}
          disabled={whyNot("admin") !== undefined}
          onInput={(event) => setWhy(event.currentTarget.value)}
        />
      </label>
    </>
  );
}
