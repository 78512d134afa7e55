import { useState } from "preact/hooks";
import { whyNot } from "../session.ts";

type Limits = Readonly<Record<string, number>> | null;

/** Own limits, one a line as `100 in 60`; none are those of the tier. */
export function LimitsForm(props: { now: Limits; onSet: (limits: Limits) => Promise<void> }) {
  const [text, setText] = useState(
    Object.entries(props.now ?? {})
      .map(([seconds, limit]) => `${limit} in ${seconds}`)
      .join("\n"),
  );
  const limits = limitsIn(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (limits !== undefined) void props.onSet(limits);
      }}
    >
      <fieldset disabled={whyNot("operator") !== undefined}>
        <div class="row">
          <label>
            Own limits, one a line: 100 in 60 (seconds)
            <textarea
              rows={3}
              aria-invalid={limits === undefined}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button
            type="submit"
            class="main"
            disabled={limits === undefined}
            title={whyNot("operator") ?? (limits === undefined ? "Write each as 100 in 60." : undefined)}
          >
            Set the limits
          </button>
        </div>
      </fieldset>
    </form>
  );
}

/** Undefined: some line can not be read. */
function limitsIn(text: string): Limits | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const read = lines.map((line) => /^\s*(\d{1,12})\s+in\s+([1-9]\d{0,8})\s*s?\s*$/.exec(line));
  if (read.some((match) => match === null)) return undefined;
  return lines.length === 0
    ? null
    : Object.fromEntries(read.map((match) => [match?.[2], Number(match?.[1])]));
}
