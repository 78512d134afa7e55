import { render } from "preact";
import { Playground } from "./playground.tsx";
import "../style.css";

/** The page of its own, docs/playground.html. */
render(
  <main>
    <h1>EARRRL playground</h1>
    <p>
      EARRRL estimates how fast a client has called lately, and refuses while that is above the limit. Drag a
      slider: the real limits judge the traffic anew, here in your browser.
    </p>
    <Playground />
  </main>,
  document.getElementById("app") as HTMLElement,
);
