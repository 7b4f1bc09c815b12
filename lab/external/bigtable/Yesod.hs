{-# LANGUAGE MultiParamTypeClasses #-}
{-# LANGUAGE OverloadedStrings #-}
{-# LANGUAGE QuasiQuotes #-}
{-# LANGUAGE TemplateHaskell #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE ViewPatterns #-}
-- | The page of the suite bigtable by yesod-core with hamlet, behind warp: PORT.
module Main (main) where

import Network.Wai.Handler.Warp (defaultSettings, runSettings, setHost, setPort)
import System.Environment (getArgs)
import Yesod.Core

data App = App

mkYesod "App" [parseRoutes|
/page PageR GET
|]

instance Yesod App where
    makeSessionBackend _ = return Nothing

getPageR :: Handler Html
getPageR = withUrlRenderer [hamlet|$newline never
<table>
    $forall _ <- rows
        <tr>
            $forall column <- columns
                <td>#{column}
|]

rows, columns :: [Int]
rows = [1 .. 1000]
columns = [1 .. 50]

main :: IO ()
main = do
    [port] <- getArgs
    application <- toWaiAppPlain App
    runSettings (setHost "127.0.0.1" (setPort (read port) defaultSettings)) application
