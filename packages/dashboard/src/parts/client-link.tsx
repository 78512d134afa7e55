import { placeOf } from "../place.ts";
import { Foreign } from "./foreign.tsx";

/** A client as it is counted, with a way to its page. */
export function ClientLink({ client }: { client: string }) {
  return (
    <a href={placeOf("clients", { find: client })}>
      <Foreign text={client} />
    </a>
  );
}
