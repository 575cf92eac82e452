// Browsers start no worker from a file; there the search runs in a hidden frame instead.
"use strict";
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((before, src) => before.then(() => this.load(src)), Promise.resolve());
      this.loaded = this.load(url);
    }
    load(src) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = src;
      this.frame.contentDocument.body.append(script);
      return new Promise((resolve) => (script.onload = resolve));
    }
    postMessage(data) {
      const message = new MessageEvent("message", { data });
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(message));
    }
  };
  window.Worker = window.IFrameWorker;
}
