import { effect, signal } from "@preact/signals";
import { ask, csrf, Problem, signedOut } from "./ask.ts";
import type { SessionAnswer } from "./types.ts";

export type Role = SessionAnswer["role"];

/** Undefined: not known yet. Null: nobody is signed in. */
export const session = signal<SessionAnswer | null | undefined>(undefined);

const rank: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

/** Why this can not be done by whoever is signed in; undefined: it can. */
export function whyNot(role: Role): string | undefined {
  const own = session.value?.role ?? "viewer";
  return rank[own] >= rank[role]
    ? undefined
    : `You are signed in as ${own}; this needs ${role === "operator" ? "an operator" : "an admin"}.`;
}

/** Finds out who is signed in, first by the one-time code of the address if there is one. */
export async function openSession(): Promise<void> {
  const code = /^#login=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    // It must not stay in the history, used or not.
    history.replaceState(null, "", "#/");
    dispatchEvent(new HashChangeEvent("hashchange"));
    await signIn({ code });
    return;
  }
  try {
    begin(await ask<SessionAnswer>("GET", "/v1/session"));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.answer.status !== 401) throw error;
    session.value = null;
  }
}

export async function signIn(by: { readonly token: string } | { readonly code: string }): Promise<void> {
  try {
    begin(await ask<SessionAnswer>("POST", "/v1/login", by));
  } catch (error) {
    session.value = null;
    throw error;
  }
}

export async function signOut(): Promise<void> {
  await ask("POST", "/v1/logout", {}).catch((error) => {
    // Whoever is out already wanted nothing else.
    if (!(error instanceof Problem && error.answer.status === 401)) throw error;
  });
  session.value = null;
  csrf.value = "";
}

function begin(given: SessionAnswer): void {
  csrf.value = given.csrf ?? "";
  session.value = given;
}

effect(() => {
  if (signedOut.value > 0) session.value = null;
});
