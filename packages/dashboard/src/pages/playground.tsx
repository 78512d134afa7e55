import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Loaded when it is opened: it brings the limits along, and other pages need none. */
export function Playground() {
  const [Loaded, setLoaded] = useState<FunctionComponent>();
  useEffect(() => {
    void import("../playground/playground.tsx").then((loaded) => setLoaded(() => loaded.Playground));
  }, []);
  return Loaded === undefined ? <p class="quiet">Loading…</p> : <Loaded />;
}
