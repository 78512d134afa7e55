import { storeContract } from "../../testing/store-contract.js";
import { memoryStore } from "./memory-store.js";

storeContract("memoryStore", { open: (clock) => memoryStore({ clock }) });
