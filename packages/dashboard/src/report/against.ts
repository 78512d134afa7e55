import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { visible } from "../words.ts";

/** The file of the other policy; undefined: it is the one in force. */
export const Against = createContext<string | undefined>(undefined);

/** What the other policy is called within a sentence. */
export function useAgainst(): string {
  const file = useContext(Against);
  return file === undefined ? "the policy in force" : visible(file);
}
