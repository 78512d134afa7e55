import { useEffect, useRef, useState } from "preact/hooks";
import { isReachable, Problem } from "./ask.ts";
import { status } from "./live/server.ts";
import { pages } from "./pages/pages.ts";
import { SignIn } from "./parts/sign-in.tsx";
import { ToldBar } from "./parts/told.tsx";
import { place, placeOf } from "./place.ts";
import { openSession, session, signOut } from "./session.ts";
import type { ProblemAnswer } from "./types.ts";
import { visible } from "./words.ts";

/** The frame around every page. */
export function Shell() {
  const [problem, setProblem] = useState<ProblemAnswer>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const open = (): void => {
      openSession().catch((error) => {
        if (!(error instanceof Problem)) throw error;
        if (session.value === null) setProblem(error.answer);
        else timer = setTimeout(open, 2_000);
      });
    };
    open();
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the page
      </button>
      <Banners />
      {session.value ? <Inside /> : session.value === null && <SignIn problem={problem} />}
      <ToldBar />
    </>
  );
}

function Inside() {
  const { page: name, query } = place.value;
  const page = pages.find((each) => each.name === name) ?? pages[0];
  /** Another client is as good as another page. */
  const client = name === "clients" ? query.find : undefined;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${page?.title} · Tidegate`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [page, client]);
  if (page === undefined) return null;
  return (
    <>
      <header>
        <a class="name" href={placeOf("")}>
          Tidegate
        </a>
        <nav aria-label="Pages">
          <ul>
            {pages.map((each) => (
              <li key={each.name}>
                <a href={placeOf(each.name)} aria-current={each === page ? "page" : undefined}>
                  {each.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Person />
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <h1>{page.title}</h1>
        <page.Page />
      </main>
    </>
  );
}

function Person() {
  const { name = null, role } = session.value ?? {};
  return (
    <p class="person">
      {name !== null && <bdi>{visible(name)}</bdi>} <span class="tag">{role}</span>{" "}
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </p>
  );
}

function Banners() {
  const { store, isDemo, isReady, ready, isDraining, policy } = status.value ?? {};
  return (
    <>
      <div role="alert" class="banners">
        {!isReachable.value && <p class="banner bad">Connection lost, retrying. What you see may be old.</p>}
        {store?.isDegraded && (
          <p class="banner bad">
            <strong>The store is degraded.</strong> {store.kind} can not be reached: every process counts for
            itself until it is back.
          </p>
        )}
        {isDraining && <p class="banner">The server is shutting down.</p>}
        {isReady === false && <p class="banner bad">Not ready: {visible(ready?.reasons.join(" ") ?? "")}</p>}
        {policy?.problem !== undefined && <p class="banner bad">Policy: {visible(policy.problem)}</p>}
      </div>
      {isDemo && <p class="banner">This is the demo: an app of its own behind 100 requests a minute.</p>}
    </>
  );
}
