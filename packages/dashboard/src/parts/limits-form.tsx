import { useState } from "preact/hooks";
import { type Limits, limitsText, readLimits } from "../limits-text.ts";
import { whyNot } from "../session.ts";

/** Own limits, one a line; none are those of the tier. */
export function LimitsForm(props: { now: Limits; onSet: (limits: Limits) => Promise<void> }) {
  const [text, setText] = useState(limitsText(props.now));
  const read = readLimits(text);
  const problem = "problem" in read ? read.problem : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if ("limits" in read) void props.onSet(read.limits);
      }}
    >
      <fieldset disabled={whyNot("operator") !== undefined}>
        <div class="row">
          <label>
            Own limits, one a line: 100 per minute, or 100 in 60 (seconds)
            <textarea
              rows={3}
              aria-invalid={problem !== undefined}
              aria-describedby="limits-problem"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button
            type="submit"
            class="main"
            disabled={problem !== undefined}
            title={whyNot("operator") ?? problem}
          >
            Set the limits
          </button>
        </div>
        <p id="limits-problem" class="worse" aria-live="polite">
          {problem}
        </p>
      </fieldset>
    </form>
  );
}
