/** What a view needs of its model, whatever it shows. */

export type ThemeName = "light" | "dark";

/** The traits that every view has; `_head` comes from the kernel and is never set here. */
export interface Shared {
  theme: "auto" | ThemeName;
  _problem: string;
  _head: DataView;
}

/** What we use of an anywidget model; a saved page brings its own. */
export interface Model<State> {
  get<K extends keyof State>(name: K): State[K];
  set<K extends keyof State>(name: K, value: State[K]): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, listener: (...args: any[]) => void): void;
  off(event: string, listener: (...args: any[]) => void): void;
}

/** What has to do with messages alone. */
export type Sender = Pick<Model<never>, "send" | "on" | "off">;
