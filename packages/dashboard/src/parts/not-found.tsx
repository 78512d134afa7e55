import { placeOf } from "../place.ts";
import { Foreign } from "./foreign.tsx";

/** What was looked for is no client that is known, nor written as one: what can be typed instead. */
export function NotFound({ text }: { text: string }) {
  const kinds = text.length > 200 ? [] : ["customer", "user", "account"];
  return (
    <div class="note" role="alert">
      <p>
        Nothing is found under <Foreign text={text} />. It is no address, and no refusal that is remembered
        here has this id: only the newest 10,000 are.
      </p>
      {kinds.length > 0 && (
        <p>
          If it is somebody's name or number:{" "}
          {kinds.map((kind, i) => (
            <span key={kind}>
              {i > 0 && ", "}
              <a href={placeOf("clients", { find: `${kind}:${text}` })}>
                <Foreign text={`${kind}:${text}`} />
              </a>
            </span>
          ))}
          . Otherwise ask the client for its address.
        </p>
      )}
    </div>
  );
}
