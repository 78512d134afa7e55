import type { Client } from "./client.js";
import type { Random } from "./random.js";
import { site } from "./site.js";
import type { ModelledRequest } from "./truth.js";

export interface Visitor {
  readonly random: Random;
  readonly send: Client;
  /** Who he is when he logs in. */
  readonly account?: string;
  /** What a page brings along is mostly still in the browser. */
  readonly hasCache?: boolean;
}

/** One visit: some pages with what they bring along, and time to read between them. Answers when it is over. */
export function* visit(
  visitor: Visitor,
  from: number,
  firstPage?: string,
): Generator<ModelledRequest, number> {
  const { random } = visitor;
  let at = yield* load(visitor, from, firstPage ?? site.page(random), visitor.hasCache ? 0.2 : 1);
  if (visitor.account !== undefined && random.chance(0.3)) at = yield* logIn(visitor, visitor.account, at);
  const pages = Math.min(60, Math.floor(random.wait(5)));
  for (let page = 0; page < pages; page++) {
    at += 2000 + random.wait(28_000);
    if (random.chance(0.03)) at = yield* openTabs(visitor, at);
    else if (random.chance(0.01)) at = yield* reload(visitor, at);
    else at = yield* load(visitor, at, site.page(random), 0);
  }
  return at;
}

/** A page, then at once what belongs to it; `fresh` is the share of the site's own files not in the browser yet. */
export function* load(
  { random, send }: Visitor,
  at: number,
  path: string,
  fresh: number,
): Generator<ModelledRequest, number> {
  yield send({ at, path, status: random.chance(0.01) ? 404 : 200 });
  let now = at + random.between(60, 400);
  for (const asset of site.shared) {
    if (!random.chance(fresh)) continue;
    now += random.between(0, 30);
    yield send({ at: now, path: asset, status: random.chance(0.1) ? 304 : 200 });
  }
  for (let images = random.whole(0, 5); images > 0; images--) {
    now += random.between(0, 60);
    yield send({ at: now, path: site.image(random) });
  }
  return now;
}

/** Opens everything that looks good in tabs, one a second. */
function* openTabs(visitor: Visitor, from: number): Generator<ModelledRequest, number> {
  let at = from;
  for (let tabs = visitor.random.whole(4, 12); tabs > 0; tabs--)
    at = yield* load(visitor, at + visitor.random.between(400, 1500), site.page(visitor.random), 0);
  return at;
}

/** Something hangs, and the same page is asked for again and again. */
function* reload(visitor: Visitor, from: number): Generator<ModelledRequest, number> {
  const path = site.page(visitor.random);
  let at = from;
  for (let times = visitor.random.whole(3, 8); times > 0; times--)
    at = yield* load(visitor, at + visitor.random.between(700, 2500), path, 0.5);
  return at;
}

/** People mistype: one login in seven fails at first, some twice, and who fails three times asks for a new password. */
function* logIn(
  { random, send }: Visitor,
  account: string,
  from: number,
): Generator<ModelledRequest, number> {
  let at = from + random.between(1500, 5000);
  yield send({ at, path: "/login" });
  for (let failures = 0; failures < 3; failures++) {
    at += 4000 + random.wait(6000);
    const isWrong = random.chance(failures === 0 ? 0.15 : 0.4);
    yield send({ at, method: "POST", path: "/login", status: isWrong ? 401 : 303, account });
    if (!isWrong) return at;
  }
  at += 5000 + random.wait(5000);
  yield send({ at, method: "POST", path: "/password-reset", status: 202, account });
  return at;
}
