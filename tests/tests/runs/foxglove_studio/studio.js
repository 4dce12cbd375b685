// Starts Foxglove Studio with the layout of a server, connected to it.

const LAYOUT = 'phalanx';

/** Keeps settings until the page is closed. */
function settings(values) {
  const kept = new Map(Object.entries(values));
  return {
    get: (key) => kept.get(key),
    set: async (key, value) => void kept.set(key, value),
    addChangeListener() {},
    removeChangeListener() {},
  };
}

/** Keeps layouts until the page is closed. */
function layouts(first) {
  const kept = new Map([[first.id, first]]);
  return {
    list: async () => [...kept.values()],
    get: async (_, id) => kept.get(id),
    async put(_, layout) {
      kept.set(layout.id, layout);
      return layout;
    },
    delete: async (_, id) => void kept.delete(id),
    async importLayouts() {},
  };
}

/**
 * Has images drawn by the panel that draws them in this release: its panel `Image`, that of later
 * releases, lists topics and draws nothing. With `topic`, all show that one.
 */
function withDrawnImages(layout, topic) {
  const text = JSON.stringify(layout).replaceAll('"Image!', '"ImageViewPanel!');
  const drawn = JSON.parse(text);
  for (const [name, panel] of Object.entries(drawn.configById)) {
    if (name.startsWith('ImageViewPanel!')) {
      panel.cameraTopic = topic ?? panel.imageMode.imageTopic;
    }
  }
  return drawn;
}

async function start() {
  const asked = new URLSearchParams(location.search);
  const server = asked.get('server');
  const offered = await (await fetch(`/layout.json?server=${server}`)).json();
  const layout = withDrawnImages(offered, asked.get('image'));
  localStorage.setItem('studio.profile-data', JSON.stringify({ currentLayoutId: LAYOUT }));
  await initI18n();
  const link = new URL(location.origin);
  link.searchParams.set('ds', 'foxglove-websocket');
  link.searchParams.set('ds.url', `ws://${server}/`);
  const app = React.createElement(App, {
    deepLinks: [link.href],
    appConfiguration: settings({
      [AppSetting.COLOR_SCHEME]: 'light',
      [AppSetting.ENABLE_NEW_TOPNAV]: true,
      [AppSetting.SHOW_OPEN_DIALOG_ON_STARTUP]: false,
      [AppSetting.HIDE_SIGN_IN_PROMPT]: true,
      [AppSetting.TELEMETRY_ENABLED]: false,
      [AppSetting.CRASH_REPORTING_ENABLED]: false,
    }),
    layoutStorage: layouts(migrateLayout({ id: LAYOUT, name: LAYOUT, data: layout })),
    extensionLoaders: [],
    dataSources: [new FoxgloveWebSocketDataSourceFactory()],
    enableGlobalCss: true,
  });
  ReactDOM.render(app, document.getElementById('root'));
}

void start();
