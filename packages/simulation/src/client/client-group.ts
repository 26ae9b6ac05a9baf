import { type Evaluation, memoryLimits } from "evaluator-client";
import { StoreConnection } from "../store-faults.ts";
import type { World } from "../world.ts";
import { ClientProcess } from "./client-process.ts";
import { type ClientSetting, drawSettings, type SharedByClients } from "./client-setting.ts";
import { distantLimits } from "./distant-limits.ts";

/** The processes that only use the client; each is started again after a kill. */
export class ClientGroup {
  readonly #world: World;
  readonly #settings: ReadonlyMap<string, ClientSetting>;
  readonly #limits: SharedByClients["limits"];
  readonly #connection: StoreConnection;
  readonly #cached = new Map<string, Evaluation>();
  readonly #right = new Map<string, string>();
  readonly #known = new Map<string, number>();
  /** Clients that have ended. */
  #ended = 0;

  constructor(world: World) {
    const { plan, time } = world;
    this.#world = world;
    const settings = drawSettings(world.random("clients"), plan);
    this.#settings = new Map(settings.map((setting, at) => [`client ${at}`, setting]));
    const faults = plan.faults.filter((fault) => fault.kind === "store");
    this.#connection = new StoreConnection(faults, world.random("limits"));
    const now = () => time.nowMs + this.#connection.offMs(time.nowMs);
    const clock = { now, epochNow: now, schedule: time.schedule.bind(time) };
    this.#limits = memoryLimits({ clock });
  }

  /** The names of all clients. */
  get names(): readonly string[] {
    return [...this.#settings.keys()];
  }

  /** Whether no client has to find the limit of the service. */
  get isLimitTold(): boolean {
    return [...this.#settings.values()].every(({ pacing }) => pacing !== "own");
  }

  get isOver(): boolean {
    return this.#ended === this.#settings.size;
  }

  /** Starts a client by its name, such as "client 0". */
  start(name: string): void {
    const setting = this.#settings.get(name);
    if (setting === undefined) return;
    const clock = this.#world.startProcess(name);
    const { time, trace } = this.#world;
    const onMissed = () => trace.add(time.nowMs, name, "misses a pause");
    const limits = distantLimits(this.#limits, { connection: this.#connection, clock, onMissed });
    const shared = { limits, cached: this.#cached, known: this.#known, right: this.#right };
    const process = new ClientProcess({ world: this.#world, name, setting, shared }, clock);
    this.#world.watch(process.live().then(() => (this.#ended += 1)));
  }
}
