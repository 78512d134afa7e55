import { effect, signal } from "@preact/signals";
import { ask, isReachable } from "../ask.ts";
import { session } from "../session.ts";

export type EventName = "rates" | "busiest" | "held" | "edges" | "store" | "audit" | "policy";

const names: readonly EventName[] = ["rates", "busiest", "held", "edges", "store", "audit", "policy"];

/** Whether the server tells what happens by itself; otherwise it is asked again and again. */
export const isTold = signal(false);

type Hear = (data: unknown) => void;
const hearing = new Map<EventName, Set<Hear>>(names.map((name) => [name, new Set()]));

/** Answers how to stop. */
export function hear(name: EventName, listener: Hear): () => void {
  hearing.get(name)?.add(listener);
  return () => hearing.get(name)?.delete(listener);
}

/** What one did oneself is looked at again at once, whoever tells of it later. */
export function hearMyself(name: EventName): void {
  for (const listener of hearing.get(name) ?? []) listener(undefined);
}

const againMs = 5_000;

/** Hears the server's events for as long as somebody is signed in. */
export function openEvents(): void {
  effect(() => {
    if (!session.value) return undefined;
    let source = listen();
    // A browser comes again by itself after a broken connection, but not after a no.
    const timer = setInterval(() => {
      if (source.readyState === EventSource.CLOSED) source = listen();
    }, againMs);
    return () => {
      clearInterval(timer);
      source.close();
      isTold.value = false;
    };
  });
}

function listen(): EventSource {
  const source = new EventSource("/v1/events");
  source.onopen = () => {
    isTold.value = true;
    isReachable.value = true;
  };
  source.onerror = () => {
    isTold.value = false;
    // Whether the server is gone, the session has ended or only this answer, the next question tells.
    ask("GET", "/v1/session").catch(() => {});
  };
  for (const name of names)
    source.addEventListener(name, ({ data }) => {
      const told: unknown = JSON.parse(data);
      for (const listener of hearing.get(name) ?? []) listener(told);
    });
  return source;
}
