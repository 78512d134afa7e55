import { useEffect, useState } from "preact/hooks";
import { ask, Problem } from "../ask.ts";
import { hear } from "../live/events.ts";
import type { ListPreviewAnswer } from "../types.ts";
import { count, visible } from "../words.ts";
import { Foreign } from "./foreign.tsx";
import { SeenTable } from "./seen-table.tsx";
import { Countdown } from "./time.tsx";

const mostShown = 10;
const mostTold = 50;
const mostAsked = 1_000;

/** Whom these addresses would hit among clients seen lately, and what stands in the way. Nothing is added. */
export function ListPreview({
  list,
  addresses,
}: {
  list: "blocklist" | "safelist";
  addresses: readonly string[];
}) {
  const preview = usePreview(list, addresses);
  if (addresses.length === 0 || preview === undefined) return null;
  const { entries, clients, count: all } = preview;
  const telling = entries.filter(({ problem, slip, now }) => problem ?? slip ?? now);
  const verb = list === "blocklist" ? "refused" : "let pass";
  return (
    <section class="note" aria-label="Before it is added">
      <p role="status">
        {all === 0
          ? "No client seen lately is meant."
          : `${count(all)} ${all === 1 ? "client" : "clients"} seen lately would be ${verb}.`}
        {addresses.length > mostAsked && ` Of the first ${count(mostAsked)} lines.`}
      </p>
      {telling.length > 0 && (
        <ul class="plain">
          {telling.slice(0, mostTold).map((entry) => (
            <Told key={entry.address} {...entry} />
          ))}
        </ul>
      )}
      {all > 0 && <SeenTable label="Whom it would hit" clients={clients.slice(0, mostShown)} empty="" />}
      {all > mostShown && <p class="quiet">And {count(all - mostShown)} more.</p>}
    </section>
  );
}

function Told({ address, problem, slip, now }: ListPreviewAnswer["entries"][number]) {
  if (problem !== undefined)
    return (
      <li class="worse">
        <Foreign text={address} />: {problem}
      </li>
    );
  return (
    <>
      {slip !== undefined && <li class="worse">{visible(slip)}</li>}
      {now !== undefined && (
        <li>
          <Foreign text={address} /> is there already, by <Foreign text={now.who} /> (
          <Foreign text={now.why} />
          ), ends in <Countdown until={now.until} />.
        </li>
      )}
    </>
  );
}

/** What the server says of them, a moment after the last key, and again whenever somebody changes something. */
function usePreview(list: string, addresses: readonly string[]): ListPreviewAnswer | undefined {
  const [answer, setAnswer] = useState<ListPreviewAnswer>();
  const [turn, setTurn] = useState(0);
  const asked = addresses.slice(0, mostAsked).join("\n");
  useEffect(() => hear("audit", () => setTurn((last) => last + 1)), []);
  useEffect(() => {
    let isWanted = true;
    const timer = setTimeout(async () => {
      if (asked === "") return setAnswer(undefined);
      try {
        const body = { addresses: asked.split("\n").map((each) => each.slice(0, 100)) };
        const preview = await ask<ListPreviewAnswer>("POST", `/v1/lists/${list}/preview`, body);
        if (isWanted) setAnswer(preview);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
    }, 300);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [list, asked, turn]);
  return answer;
}
