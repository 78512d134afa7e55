import { computed, signal } from "@preact/signals";

/** Where one is: `#/lists/blocklist?find=x` is page `lists`, rest `blocklist`. */
export interface Place {
  readonly page: string;
  readonly rest: string;
  readonly query: Readonly<Record<string, string>>;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/");
  return { page, rest: rest.join("/"), query: Object.fromEntries(new URLSearchParams(query)) };
});

export function placeOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams(query).toString();
  return `#/${path}${params === "" ? "" : `?${params}`}`;
}

export function goTo(path: string, query: Readonly<Record<string, string>> = {}): void {
  location.hash = placeOf(path, query);
}
