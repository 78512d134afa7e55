import { render } from "preact";
import { openEvents } from "./live/events.ts";
import { watchServer } from "./live/server.ts";
import { Shell } from "./shell.tsx";
import "./style.css";

watchServer();
openEvents();
render(<Shell />, document.getElementById("app") as HTMLElement);
