import { placeOf } from "../place.ts";
import type { ExplainAnswer } from "../types.ts";
import type { Facts } from "../wanted.ts";
import { Foreign } from "./foreign.tsx";
import { Ago } from "./time.tsx";

/** Which request of a client is judged: rules look at more than who it is. */
export function AsRefused(props: { given: Facts; asRefused: ExplainAnswer["asRefused"] | undefined }) {
  const { given, asRefused } = props;
  if (asRefused === undefined)
    return (
      <p class="quiet">
        No refusal of it is remembered here, so this is about a plain request, without a user agent. Add a
        path, as in <code>203.0.113.7 GET /search</code>, or find it by the decision id of its refusal.
      </p>
    );
  const { method, host, path, userAgent, customer, user, account } = asRefused.about;
  const names = Object.entries({ customer, user, account }).filter(([, name]) => name !== undefined);
  const isWhole = ["method", "path"].every(
    (name) =>
      given[name as "path"] === undefined || given[name as "path"] === asRefused.about[name as "path"],
  );
  return (
    <p>
      {isWhole ? "As" : "What was not said, as in"} its last refused request, <Ago at={asRefused.at} />:{" "}
      <Foreign text={`${method ?? ""} ${host ?? ""}${path ?? ""}`} />
      {userAgent === undefined ? (
        " without a user agent"
      ) : (
        <>
          {" "}
          with the user agent <Foreign text={userAgent} />
        </>
      )}
      {names.map(([kind, name]) => (
        <span key={kind}>
          , {kind}{" "}
          <a href={placeOf("clients", { find: `${kind}:${name}` })}>
            <Foreign text={name} />
          </a>
        </span>
      ))}
      .
      {(userAgent?.length ?? 0) >= longestKept &&
        " Of so long a user agent only the beginning is remembered: a rule that counts by it may say otherwise."}
    </p>
  );
}

/** What the server keeps of a text. */
const longestKept = 200;
