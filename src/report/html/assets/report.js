// Starts the page: reads its data and fills the places that wait for them.

function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  return Promise.reject(new Error("no clipboard"));
}

// Where the clipboard is closed to the page, the text is selected for the reader's own keys.
function viewCopy(parent) {
  const code = parent.querySelector("code");
  const button = element(
      "button", {
        type: "button",
        class: "copy",
        click: () => copyText(code.textContent)
                         .then(
                             () => done("Copied"),
                             () => {
                               getSelection().selectAllChildren(code);
                               done("Selected");
                             })
      },
      "Copy");
  function done(text) {
    button.textContent = text;
    say(text === "Copied" ? "The command is copied." :
                            "The command is selected; copy it with the keys of your system.");
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1600);
  }
  parent.append(button);
}

function openForPrint() {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    part.dataset.printed = "";
  }
}

function closeAfterPrint() {
  for (const part of document.querySelectorAll("details[data-printed]")) {
    part.open = false;
    delete part.dataset.printed;
  }
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.weights || data.linears) data.linears = linearRows(data);
  const place = (name) => document.querySelector(`[data-view="${name}"]`);
  let openRow = () => {};
  const views = {
    search: (parent) => viewSearch(data, parent),
    table: (parent) => {
      openRow = viewTable(data, parent);
    },
    strip: (parent) => viewStrip(data, parent, (i) => openRow("layers", i)),
    samples: (parent) => viewSamples(data, parent),
    copy: viewCopy,
  };
  document.documentElement.classList.add("scripted");
  for (const [name, view] of Object.entries(views))
    if (place(name)) view(place(name));
  addEventListener("beforeprint", openForPrint);
  addEventListener("afterprint", closeAfterPrint);
}

start();
