import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Data, NamedToken, Session } from "../../packages/tidegate-server/src/data.js";
import { soon } from "../directory/support.js";

export interface AccessContractOptions {
  /** Keeps 50 sessions. */
  open(): Promise<Data>;
  again(data: Data): Promise<Data>;
  readonly isShared: boolean;
}

export const mostSessions = 50;

const hostile = "a\0b\u{1F600}'; DROP TABLE tokens; --\r\n{}\\\" ]]> %s";
const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const namesOf = (tokens: readonly NamedToken[]): string[] => tokens.map(({ name }) => name);

/** What all data promises of tokens and sessions. */
export function accessContract({ open, again, isShared }: AccessContractOptions): void {
  const draft = (name: string, role: NamedToken["role"] = "viewer") => ({ name, role, createdBy: "ann" });

  describe("tokens", () => {
    it("are found by their digest, with all that was said of them, whoever comes later", async () => {
      const data = await open();
      expect(await data.tokens.list()).toEqual([]);
      const from = Date.now();
      const until = Date.now() + 60_000;
      const eva = await data.tokens.add({ ...draft("eva", "operator"), until }, digestOf("1"));
      expect(eva).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        name: "eva",
        role: "operator",
        createdBy: "ann",
        createdAt: expect.any(Number),
        until,
      });
      expect(eva?.createdAt).toBeGreaterThanOrEqual(from);
      const odd = await data.tokens.add({ name: hostile, role: "admin", createdBy: hostile }, digestOf("2"));
      const next = await again(data);
      expect(await next.tokens.findByDigest(digestOf("1"))).toEqual(eva);
      expect(await next.tokens.findByDigest(digestOf("2"))).toEqual(odd);
      expect(await next.tokens.findByDigest(digestOf("3"))).toBeUndefined();
      expect(await next.tokens.findByDigest("")).toBeUndefined();
      expect((await next.tokens.list()).toSorted((a, b) => (a.name < b.name ? 1 : -1))).toEqual([eva, odd]);
    });

    it("have names of their own: of many that come at once with one name, one is made", async () => {
      const data = await open();
      const others = isShared ? [data, await again(data)] : [data];
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (others[i % others.length] as Data).tokens.add(draft("eva"), digestOf(String(i))),
        ),
      );
      const [only, ...more] = made.filter((token) => token !== undefined);
      expect(more).toEqual([]);
      expect(await data.tokens.list()).toEqual([only]);
      expect(await data.tokens.add(draft("bob"), digestOf("x"))).toMatchObject({ name: "bob" });
      expect(await data.tokens.add(draft("bob's other"), digestOf("x"))).toBeUndefined();
    });

    it("are revoked by name or id, once, and their names are free again", async () => {
      const data = await open();
      const eva = await data.tokens.add(draft("eva"), digestOf("1"));
      const bob = (await data.tokens.add(draft("bob"), digestOf("2"))) as NamedToken;
      const revoked = await Promise.all([data.tokens.revoke("eva"), data.tokens.revoke("eva")]);
      expect(revoked.filter((token) => token !== undefined)).toEqual([eva]);
      expect(await data.tokens.findByDigest(digestOf("1"))).toBeUndefined();
      expect(await data.tokens.revoke(bob.id)).toEqual(bob);
      expect(await data.tokens.revoke(bob.id)).toBeUndefined();
      expect(await data.tokens.revoke(hostile)).toBeUndefined();
      expect(await (await again(data)).tokens.list()).toEqual([]);
    });

    it("free their name and forget their use when they are revoked", async () => {
      const { tokens } = await open();
      const eva = (await tokens.add(draft("eva"), digestOf("1"))) as NamedToken;
      await tokens.touch(eva.id, 120_000);
      await tokens.revoke("eva");
      await tokens.touch(eva.id, 180_000);
      const next = await tokens.add(draft("eva", "admin"), digestOf("2"));
      expect(await tokens.list()).toEqual([next]);
      expect(next).not.toHaveProperty("lastUsedAt");
    });

    it("say when they were last used, also those that have ended", async () => {
      const data = await open();
      const eva = (await data.tokens.add({ ...draft("eva"), until: 1 }, digestOf("1"))) as NamedToken;
      await data.tokens.add(draft("bob"), digestOf("2"));
      await data.tokens.touch(eva.id, 120_000);
      await data.tokens.touch("nobody", 120_000);
      const { tokens } = await again(data);
      expect(await tokens.findByDigest(digestOf("1"))).toEqual({ ...eva, lastUsedAt: 120_000 });
      expect((await tokens.list()).map(({ lastUsedAt }) => lastUsedAt).toSorted()).toEqual([
        120_000,
        undefined,
      ]);
      expect(namesOf(await tokens.list()).toSorted()).toEqual(["bob", "eva"]);
    });
  });

  describe("sessions", () => {
    const session = (told: Partial<Session> = {}): Session => ({
      tokenId: "0123456789ab",
      role: "operator",
      name: "eva",
      until: Date.now() + 60_000,
      ...told,
    });

    it("are found by their digest until they end, whoever comes later", async () => {
      const data = await open();
      const named = session({ name: hostile });
      const { name: _, ...unnamed } = session({ tokenId: "one-time", role: "admin" });
      const brief = session({ until: Date.now() + 300 });
      await data.sessions.add(digestOf("1"), named);
      await data.sessions.add(digestOf("2"), unnamed);
      await data.sessions.add(digestOf("3"), brief);
      const { sessions } = await again(data);
      expect(await sessions.find(digestOf("1"))).toEqual(named);
      expect(await sessions.find(digestOf("2"))).toEqual(unnamed);
      expect(await sessions.find(digestOf("4"))).toBeUndefined();
      await soon("its end", () => Date.now() >= brief.until);
      expect(await sessions.find(digestOf("3"))).toBeUndefined();
      expect(await sessions.remove(digestOf("3"))).toBeUndefined();
    });

    it("are taken away by one alone, however many come at once", async () => {
      const data = await open();
      const others = isShared ? [data, await again(data)] : [data];
      const one = session();
      await data.sessions.add(digestOf("1"), one);
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (others[i % others.length] as Data).sessions.remove(digestOf("1")),
        ),
      );
      expect(taken.filter((each) => each !== undefined)).toEqual([one]);
      expect(await data.sessions.find(digestOf("1"))).toBeUndefined();
    });

    it("end with their token, and no other does", async () => {
      const data = await open();
      for (const i of ["1", "2"]) await data.sessions.add(digestOf(i), session({ tokenId: "a" }));
      const other = session({ tokenId: "b" });
      await data.sessions.add(digestOf("3"), other);
      await data.sessions.removeOfToken("a");
      await data.sessions.removeOfToken("nobody");
      const { sessions } = await again(data);
      expect(await sessions.find(digestOf("1"))).toBeUndefined();
      expect(await sessions.find(digestOf("2"))).toBeUndefined();
      expect(await sessions.find(digestOf("3"))).toEqual(other);
    });

    it("are bounded: when full, whichever ends soonest goes first", async () => {
      const { sessions } = await open();
      const until = Date.now() + 60_000;
      for (let i = 0; i < mostSessions + 5; i++)
        await sessions.add(digestOf(String(i)), session({ until: until + i * 1_000 }));
      const found = await Promise.all(
        Array.from({ length: mostSessions + 5 }, (_, i) => sessions.find(digestOf(String(i)))),
      );
      expect(found.map((each) => each !== undefined)).toEqual(found.map((_, i) => i >= 5));
    });
  });
}
