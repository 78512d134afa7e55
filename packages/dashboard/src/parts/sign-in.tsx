import { useState } from "preact/hooks";
import { problemOf } from "../ask.ts";
import { signIn } from "../session.ts";
import type { ProblemAnswer } from "../types.ts";
import { ProblemNote } from "./problem-note.tsx";

export function SignIn({ problem: given }: { problem: ProblemAnswer | undefined }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<ProblemAnswer>();
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    try {
      await signIn({ token });
    } catch (error) {
      setProblem(problemOf(error));
    }
  }
  return (
    <main id="main" tabIndex={-1} class="narrow">
      <h1>Tidegate</h1>
      <form onSubmit={(event) => void submit(event)}>
        <ProblemNote problem={problem ?? given} />
        <label>
          Token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Sign in
        </button>
        <p class="quiet">
          No token? <code>tidegate token create</code> makes one, and <code>tidegate start</code> prints a
          link that signs you in once.
        </p>
      </form>
    </main>
  );
}
