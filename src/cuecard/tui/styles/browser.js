// With a clipboard of its own, the browser has Ctrl+V, so that what other programs copied arrives; the terminal takes it as a key.
addEventListener("keydown", event => {
  const paste = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "v";
  if (paste && isSecureContext) event.stopImmediatePropagation();
}, true);
addEventListener("load", () => {
  document.getElementById("again").addEventListener("click", () => location.reload());
  // What is typed goes into the app as soon as it shows something.
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  new MutationObserver((_changes, watch) => {
    if (document.body.classList.contains("-first-byte")) { watch.disconnect(); focus(); }
  }).observe(document.body, { attributes: true });
});
