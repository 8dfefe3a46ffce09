// The other side of the widget, played by a test: models with their traits, and blocks answered when the test says so.
// As with anywidget, every view gets a model object of its own over the same state.
(() => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);

  class Kernel {
    constructor(state, head, blocks) {
      this.state = { ...state, _head: new DataView(bytes(head).buffer) };
      this.blocks = blocks;
      this.listeners = new Map(); // event -> Set of functions
      this.views = [];
      this.asked = []; // keys, in the order in which they were asked for
      this.saved = []; // what each save_changes took to the kernel
      this.changed = {};
      this.prompt = true; // answer at once
    }

    emit(event, ...args) {
      for (const listener of [...(this.listeners.get(event) ?? [])]) listener(...args);
    }

    set(name, value) {
      if (same(this.state[name], value)) return false;
      this.state[name] = value;
      this.emit(`change:${name}`);
      this.emit("change");
      return true;
    }

    listening() {
      return [...this.listeners.values()].reduce((sum, set) => sum + set.size, 0);
    }

    model() {
      return {
        get: (name) => this.state[name],
        set: (name, value) => {
          if (name === "_head") throw new Error("the page set _head");
          if (this.set(name, value)) this.changed[name] = value;
        },
        save_changes: () => {
          if (Object.keys(this.changed).length > 0) this.saved.push(this.changed);
          this.changed = {};
        },
        send: (content) => {
          this.asked.push(...content.ask);
          if (this.prompt) queueMicrotask(() => this.answer(content.ask, 1));
        },
        on: (event, listener) => {
          if (!this.listeners.has(event)) this.listeners.set(event, new Set());
          this.listeners.get(event).add(listener);
        },
        off: (event, listener) => this.listeners.get(event)?.delete(listener),
      };
    }

    answer(keys, pieces) {
      for (const key of keys) {
        const block = bytes(this.blocks[key]);
        const size = Math.ceil(block.length / pieces);
        for (let piece = 0; piece < pieces; piece += 1) {
          const part = block.slice(piece * size, (piece + 1) * size);
          this.emit("msg:custom", { blocks: [[key, piece, pieces]] }, [new DataView(part.buffer)]);
        }
      }
    }

    answerAll() {
      this.prompt = true;
      this.answer(this.asked, 1);
    }

    refuse(key, sentence) {
      this.emit("msg:custom", { refused: [[key, sentence]] }, []);
    }

    async view(width) {
      const el = document.createElement("div");
      el.style.width = `${width}px`;
      document.body.append(el);
      const abort = new AbortController();
      const cleanup = await window.widget.render({ model: this.model(), el, signal: abort.signal });
      return this.views.push({ el, abort, cleanup }) - 1;
    }

    // "cleanup": as anywidget 0.9, which knows no signal; "signal": only the signal; "both": as it is now.
    async remove(index, how) {
      const { el, abort, cleanup } = this.views[index];
      if (how !== "cleanup") abort.abort();
      if (how !== "signal") await cleanup();
      el.remove();
    }
  }

  window.start = async (source, state, head, blocks) => {
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const { default: widget } = await import(address);
    URL.revokeObjectURL(address);
    window.widget = typeof widget === "function" ? await widget() : widget;
    window.kernel = new Kernel(state, head, blocks);
  };
})();
