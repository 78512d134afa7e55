export { ConfigFileError } from "./config/config-file-error.js";
export { type Loaded, loadConfig, type Overrides } from "./config/load-config.js";
export { openLog } from "./observe/open-log.js";
export { type Server, type ServerOptions, startServer } from "./server.js";
export type { Settings } from "./settings.js";
