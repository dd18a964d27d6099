// The properties of elements: rows of a table, which one pair of vfuncs sets and reads.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <utility>
#include <vector>

namespace cudatransform {

// The states in which a property may be set.
inline constexpr auto kWhilePlaying = static_cast<GParamFlags>(
    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
inline constexpr auto kUpToReady =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto kReadOnly =
    static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
inline constexpr auto kControllable =
    static_cast<GParamFlags>(kWhilePlaying | GST_PARAM_CONTROLLABLE);

// A type of named values, for a static variable of the function that returns it.
inline GType marked_as_plugin_api(GType type) {
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}
inline GType register_values(const char* name, const GEnumValue* values) {
  return marked_as_plugin_api(g_enum_register_static(name, values));
}
inline GType register_values(const char* name, const GFlagsValue* values) {
  return marked_as_plugin_api(g_flags_register_static(name, values));
}

// Holds the object lock, which guards the settings.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(GST_OBJECT_CAST(object)) {
    GST_OBJECT_LOCK(object_);
  }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  GstObject* object_;
};

// A copy of what the lock guards.
template <class T>
T locked(gpointer object, const T& guarded) {
  const ObjectLock lock(object);
  return guarded;
}

// A row. Its functions are called without the object lock.
struct Property {
  GParamSpec* spec;
  std::function<void(GObject* object, GValue* value)> get;
  std::function<void(GObject* object, const GValue* value)> set = nullptr;  // if it can be set
};

// Gives `klass` these properties, in this order, after those that it has. Call it in class_init.
// It sets the vfuncs as well.
void install_properties(GObjectClass* klass, const std::vector<Property>& properties);

// The property "stats", which `make` reads (transfer full).
Property stats_property(GstStructure* (*make)(GObject* object));

// A setting and its GValue. An enum may be stored as an int, flags as a guint.
inline void read_value(const GValue* value, bool* to) { *to = g_value_get_boolean(value); }
inline void read_value(const GValue* value, gint* to) {
  *to = G_VALUE_HOLDS_ENUM(value) ? g_value_get_enum(value) : g_value_get_int(value);
}
inline void read_value(const GValue* value, guint* to) {
  *to = G_VALUE_HOLDS_FLAGS(value) ? g_value_get_flags(value) : g_value_get_uint(value);
}
inline void read_value(const GValue* value, guint64* to) { *to = g_value_get_uint64(value); }
inline void read_value(const GValue* value, double* to) { *to = g_value_get_double(value); }
template <class Enum>
void read_value(const GValue* value, Enum* to) {
  *to = static_cast<Enum>(g_value_get_enum(value));
}
inline void write_value(bool from, GValue* value) { g_value_set_boolean(value, from); }
inline void write_value(gint from, GValue* value) {
  G_VALUE_HOLDS_ENUM(value) ? g_value_set_enum(value, from) : g_value_set_int(value, from);
}
inline void write_value(guint from, GValue* value) {
  G_VALUE_HOLDS_FLAGS(value) ? g_value_set_flags(value, from) : g_value_set_uint(value, from);
}
inline void write_value(guint64 from, GValue* value) { g_value_set_uint64(value, from); }
inline void write_value(double from, GValue* value) { g_value_set_double(value, from); }
template <class Enum>
void write_value(Enum from, GValue* value) {
  g_value_set_enum(value, int(from));
}

// Optional traits of a setting's row.
template <class Settings, class T>
struct SettingTraits {
  T min{}, max{};                     // of a number
  GType type = G_TYPE_INVALID;        // of an enum, also where T is int; of flags
  GParamFlags flags = kWhilePlaying;  // kReadOnly: users cannot set it
  // In place of the assignment, with the object lock: for a setting that changes others.
  void (*set)(Settings& settings, T value) = nullptr;
  // Called after it has been set, without the lock.
  void (*changed)(GObject* object, bool differs) = nullptr;
};

// Makes rows of the members of a struct of settings, which the object lock guards. The values of
// `defaults` are the properties' defaults.
template <class Settings>
class SettingsOf {
 public:
  // Where an element has its settings.
  using Find = Settings& (*)(gpointer element);
  explicit SettingsOf(Find find, Settings defaults = {})
      : find_(find), defaults_(std::move(defaults)) {}

  // A number, a bool, an enum or flags.
  template <class T>
  Property row(const char* name, const char* nick, const char* blurb, T Settings::*member,
               const SettingTraits<Settings, T>& traits = {}) const {
    Property property = {make_spec({name, nick, blurb}, defaults_.*member, traits),
                         [find = find_, member](GObject* object, GValue* value) {
                           const ObjectLock lock(object);
                           write_value(find(object).*member, value);
                         }};
    if (!(traits.flags & G_PARAM_WRITABLE)) return property;
    property.set = [find = find_, member, set = traits.set, changed = traits.changed](
                       GObject* object, const GValue* value) {
      T wanted;
      read_value(value, &wanted);
      bool differs = false;
      {
        const ObjectLock lock(object);
        Settings& settings = find(object);
        differs = settings.*member != wanted;
        if (set)
          set(settings, wanted);
        else
          settings.*member = wanted;
      }
      if (changed) changed(object, differs);
    };
    return property;
  }

  // Of any type, by functions that are called with the object lock.
  Property row(GParamSpec* spec, void (*get)(const Settings& settings, GValue* value),
               void (*set)(Settings& settings, const GValue* value)) const {
    return {spec,
            [find = find_, get](GObject* object, GValue* value) {
              const ObjectLock lock(object);
              get(find(object), value);
            },
            [find = find_, set](GObject* object, const GValue* value) {
              const ObjectLock lock(object);
              set(find(object), value);
            }};
  }

  Find find() const { return find_; }

 private:
  struct Texts {
    const char *name, *nick, *blurb;
  };
  template <class T>
  using Traits = SettingTraits<Settings, T>;

  static GParamSpec* make_spec(const Texts& of, bool initially, const Traits<bool>& t) {
    return g_param_spec_boolean(of.name, of.nick, of.blurb, initially, t.flags);
  }
  static GParamSpec* make_spec(const Texts& of, gint initially, const Traits<gint>& t) {
    if (t.type) return g_param_spec_enum(of.name, of.nick, of.blurb, t.type, initially, t.flags);
    return g_param_spec_int(of.name, of.nick, of.blurb, t.min, t.max, initially, t.flags);
  }
  static GParamSpec* make_spec(const Texts& of, guint initially, const Traits<guint>& t) {
    if (t.type) return g_param_spec_flags(of.name, of.nick, of.blurb, t.type, initially, t.flags);
    return g_param_spec_uint(of.name, of.nick, of.blurb, t.min, t.max, initially, t.flags);
  }
  static GParamSpec* make_spec(const Texts& of, guint64 initially, const Traits<guint64>& t) {
    return g_param_spec_uint64(of.name, of.nick, of.blurb, t.min, t.max, initially, t.flags);
  }
  static GParamSpec* make_spec(const Texts& of, double initially, const Traits<double>& t) {
    return g_param_spec_double(of.name, of.nick, of.blurb, t.min, t.max, initially, t.flags);
  }
  template <class Enum>
  static GParamSpec* make_spec(const Texts& of, Enum initially, const Traits<Enum>& t) {
    return g_param_spec_enum(of.name, of.nick, of.blurb, t.type, int(initially), t.flags);
  }

  Find find_;
  Settings defaults_;
};

}  // namespace cudatransform
