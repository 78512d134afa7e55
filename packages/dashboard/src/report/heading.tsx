import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** Of the sections' headings: 2 in a page of its own, 3 within another page's section. */
export const Level = createContext<2 | 3>(2);

export function Heading({ children }: { children: ComponentChildren }) {
  return useContext(Level) === 2 ? <h2>{children}</h2> : <h3>{children}</h3>;
}
