import { MayNot } from "../parts/act.tsx";
import { AddToList } from "../parts/add-to-list.tsx";
import { ListTable } from "../parts/list-table.tsx";
import { place, placeOf } from "../place.ts";

export type ListName = "blocklist" | "safelist";

const words: Readonly<Record<ListName, string>> = {
  blocklist: "Whoever is on it is refused, whatever the rules say.",
  safelist: "Whoever is on it passes, uncounted. It goes before the blocklist.",
};

export function Lists() {
  const list: ListName = place.value.rest === "safelist" ? "safelist" : "blocklist";
  return (
    <>
      <nav aria-label="Lists">
        <ul>
          {(["blocklist", "safelist"] as const).map((each) => (
            <li key={each}>
              <a href={placeOf(`lists/${each}`)} aria-current={each === list ? "page" : undefined}>
                {each === "blocklist" ? "Blocklist" : "Safelist"}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <p>{words[list]}</p>
      <MayNot needs="operator" />
      <h2>Add to the {list}</h2>
      <AddToList key={list} list={list} given={place.value.query.address ?? ""} />
      <h2>On the {list}</h2>
      <ListTable key={`${list} table`} list={list} />
    </>
  );
}
