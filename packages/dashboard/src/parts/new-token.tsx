import { useRef, useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import type { ProblemAnswer, TokenCreatedAnswer } from "../types.ts";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";

const roles = ["viewer", "operator", "admin"] as const;
type Role = (typeof roles)[number];

const ends = [
  ["12h", "12 hours"],
  ["7d", "a week"],
  ["30d", "30 days"],
  ["365d", "a year"],
  ["", "until it is revoked"],
] as const;

/** Makes a token, and shows it: it is told this once. */
export function NewToken({ onDone }: { onDone: () => Promise<void> }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("operator");
  const [duration, setDuration] = useState("30d");
  const [made, setMade] = useState<TokenCreatedAnswer>();
  const [problem, setProblem] = useState<ProblemAnswer>();

  async function create(event: Event): Promise<void> {
    event.preventDefault();
    setMade(undefined);
    setProblem(undefined);
    try {
      const body = { name: name.trim(), role, ...(duration !== "" && { for: duration }) };
      setMade(await ask<TokenCreatedAnswer>("POST", "/v1/tokens", body));
      setName("");
    } catch (error) {
      setProblem(problemOf(error));
    }
    hearMyself("audit");
    await onDone();
  }
  return (
    <>
      <form onSubmit={(event) => void create(event)}>
        <div class="row">
          <label>
            Name
            <input
              required
              maxLength={40}
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <label>
            Role
            <select value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
              {roles.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
          <label>
            For
            <select value={duration} onChange={(event) => setDuration(event.currentTarget.value)}>
              {ends.map(([each, words]) => (
                <option key={each} value={each}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" class="main">
            Create
          </button>
        </div>
        <p class="quiet">
          A viewer looks; an operator also changes lists and customers and clears clients; an admin does the
          rest too.
        </p>
      </form>
      <ProblemNote problem={problem} />
      {made !== undefined && <Secret made={made} onHide={() => setMade(undefined)} />}
    </>
  );
}

function Secret({ made, onHide }: { made: TokenCreatedAnswer; onHide: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState("");
  async function copy(): Promise<void> {
    field.current?.select();
    try {
      // Browsers have none for pages that came without TLS from elsewhere.
      await navigator.clipboard.writeText(made.secret);
      setWords("Copied.");
    } catch {
      setWords("It is selected: copy it by the keyboard.");
    }
  }
  return (
    <section class="note" aria-label="The new token">
      <p>
        This is the token of <Foreign text={made.token.name} /> ({made.token.role}). It is shown this once.
      </p>
      <div class="row">
        <label>
          Token
          <input class="foreign" readOnly size={50} ref={field} value={made.secret} />
        </label>
        <button type="button" class="main" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onHide}>
          Hide it
        </button>
      </div>
      <p role="status">{words}</p>
    </section>
  );
}
