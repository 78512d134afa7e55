import { visible } from "../words.ts";

/** What others wrote: as text, every character visible, left to right whatever it says. */
export function Foreign({ text, most = 200 }: { text: string | undefined; most?: number }) {
  if (text === undefined || text === "") return <span class="quiet">–</span>;
  return (
    <bdi class="foreign" dir="ltr">
      {visible(text.length > most ? `${text.slice(0, most)}…` : text)}
    </bdi>
  );
}
